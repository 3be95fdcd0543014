# boot: full
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Folders that a unit's settings hide or protect: the setting is named, and what is proposed helps.
pictures=/home/tester/Pictures
mkdir -p $pictures
echo x >$pictures/a.jpg
chown -R tester: $pictures

# service SETTING... -- COMMAND...: runs a command as tester in a service with these settings.
service() {
    local options=()
    while [ "$1" != -- ]; do options+=(-p "$1"); shift; done
    shift
    systemd-run -q --wait --pipe --collect -p User=tester -p WorkingDirectory=/ "${options[@]}" "$@"
}

# hidden SETTING TRUTH STATUS: what permcheck says in a service with the setting, and what its remedy does.
hidden() {
    local setting=$1 wanted=$2 truth line more=()
    truth=$(service "$setting" -- bash -c "$(declare -f can); can $pictures" 2>/dev/null)
    check "$setting: really ${truth:-nothing}" [ "$truth" = "$3" ]
    ask_by service "$setting" -- permcheck photos=$pictures
    says "$setting: $wanted" "status('photos') == '$wanted' and not report('photos').requestableBy"
    says "$setting: the unit and the setting are named" "has('photos', 'service-sandbox') and '${setting%%=*}' in evidence('photos', 'service-sandbox') and '.service' in evidence('photos', 'service-sandbox')"
    says "$setting: a drop-in is proposed, and nothing else" "len(remedies('photos')) == 1 and remedies('photos')[0].line.startswith('[Service]\\n') and 'restart' in remedies('photos')[0].after"
    line=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["reports"][0]["resources"][0]["remedies"][0]["line"])' "$lab_tmp/answer")
    mapfile -t more <<<"${line#\[Service\]$'\n'}"
    # A drop-in adds to the unit's own settings; systemd-run has them in one list.
    more=("$setting" "${more[@]}")
    truth=$(service "${more[@]}" -- bash -c "$(declare -f can); can $pictures" 2>/dev/null)
    check "$setting: with it, all is possible" [ "$truth" = listwrite ]
    ask_by service "${more[@]}" -- permcheck photos=$pictures
    says "$setting: and permcheck says so" "status('photos') == 'authorized'"
}
section "a service without settings"
ask_by service -- permcheck photos=$pictures
says "nothing hides the folder" 'status("photos") == "authorized" and not has("photos", "service-sandbox")'
section "hidden"
hidden ProtectHome=yes restricted ""
hidden InaccessiblePaths=$pictures restricted ""
section "covered"
hidden ProtectHome=tmpfs unavailable ""
hidden TemporaryFileSystem=/home unavailable ""
section "protected"
hidden ProtectHome=read-only limited list
hidden ReadOnlyPaths=$pictures limited list
hidden ReadOnlyPaths=/home limited list
home=$pictures pictures=/srv/pictures
mkdir $pictures
chown tester: $pictures
hidden ProtectSystem=strict limited list
pictures=$home
section "the bits of a service that hides other folders"
chmod 700 $pictures
chown other $pictures
ask_by service InaccessiblePaths=/srv -- permcheck photos=$pictures
says "are not blamed on it" 'status("photos") == "denied" and not has("photos", "service-sandbox")'

section "at random"
INSIDE="systemd-run -q --wait --pipe --collect -p User=tester -p WorkingDirectory=/ -p ReadOnlyPaths=/srv/unit-random/d1 -p InaccessiblePaths=/srv/unit-random/d2 -p TemporaryFileSystem=/srv/unit-random/d3 -p ProtectSystem=strict -p ReadWritePaths=/srv" \
    NO_USERS=1 at_random "a service" /srv/unit-random /srv/unit-random
