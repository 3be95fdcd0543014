#!/bin/sh
# Installs permcheck from this folder, below PREFIX, /usr/local by default:
#
#   sudo ./install.sh              the program, its helper for root, the timer, completions, man pages
#   PREFIX=~/.local ./install.sh   without root: the program, completions, man pages
#   ./install.sh --library         libpermissionkit.so and its header, for programs in C
#   ./install.sh [--library] --remove
set -eu
cd "$(dirname "$0")"
case "$*" in
'') exec Scripts/install bin/permcheck ;;
--library) exec Scripts/install --library lib/libpermissionkit.so ;;
--remove | '--library --remove') exec Scripts/install "$@" ;;
-h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' install.sh ;;
*) echo "usage: ./install.sh [--library] [--remove]" >&2; exit 64 ;;
esac
