import Foundation
import TestSupport
import Testing

/// `permcheck report`: what is sent with a bug names nobody, and its facts are judged as they were.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other credentials wants root"))
struct ReportTests {
  /// A machine with people of long names, their groups and folders.
  private func run(_ script: String) throws -> Outcome {
    try Command.run([
      "unshare", "--mount", "--uts", "bash", "-uc",
      Command.privateEtc + """
        mount -t tmpfs -o mode=755 none /srv; cd /srv
        private_etc; printf '%s\\n' adalovelace:x:2000:2000:Ada:/srv/adalovelace:/bin/sh \\
          bobmarley:x:2001:2001::/srv/bobmarley:/bin/sh >>/etc/passwd
        printf '%s\\n' adalovelace:x:2000: bobmarley:x:2001: secretproject:x:2002:bobmarley >>/etc/group
        hostname examplehost
        P=$1; export PERMCHECK_LOG=none
        for name in adalovelace bobmarley; do install -d -o $name -g $name -m 750 $name $name/Pictures; done
        mkdir shared; chgrp secretproject shared; chmod 750 shared
        setfacl -m u:bobmarley:rwx shared
        as() { HOME=/srv/$1 setpriv --reuid $1 --regid $1 --init-groups "${@:2}"; }
        \(script)
        """, "bash", Command.permcheck,
    ])
  }

  @Test func `A report contains no name of a person`() throws {
    let outcome = try run(
      """
      for names in '' "/srv/shared /srv/bobmarley/Pictures" "photos --user bobmarley"; do
        as adalovelace $P report $names >report; echo $?
        grep -c -i -e adalovelace -e bobmarley -e secretproject -e examplehost -e 'Ada\\b' report
        for title in program system place process modules cgroup session drivers devices mounts sysctls grants; do
          grep -q "^$title  *[^ ]" report || echo no $title
        done
      done
      as adalovelace $P report /srv/shared >report
      grep -o 'root *group[0-9]\\|for me' report | sort -u
      """)
    #expect(
      outcome.output == """
        0
        0
        0
        0
        0
        0
        for me
        root group1

        """, "\(outcome)")
    #expect(outcome.errors.isEmpty, "\(outcome)")
  }

  @Test func `The facts of a report are judged as on its machine`() throws {
    let outcome = try run(
      """
      for name in /srv/shared /srv/bobmarley/Pictures photos; do
        as adalovelace $P report $name >report
        wanted=$(sed -n 's/^# permcheck explain .*: exit status //p' report) got=0
        as adalovelace $P explain $name >/dev/null || got=$?
        tail -n 1 report | $P evaluate - >answer; echo $wanted $got $?
        grep -q 'for me (uid 2000)' answer || cat answer
      done
      $P report nothing >report; echo $? $(wc -c <report)
      """)
    #expect(
      outcome.output == """
        1 1 1
        1 1 1
        0 0 0
        64 0

        """, "\(outcome)")
    #expect(outcome.errors.contains("there is no accessor \"nothing\""), "\(outcome)")
  }
}
