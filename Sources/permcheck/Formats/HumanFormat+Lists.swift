@_spi(SystemCalls) import PermissionKit

// Lists: accessors, grants, and the summary of the log.
extension HumanFormat {
  func text(_ listing: AccessorListing) -> String {
    Table(
      listing.entries.map { entry in
        [
          style.bold(entry.name),
          entry.aliases.isEmpty ? "" : "(\(entry.aliases.joined(separator: ", ")))",
          Sanitizer.clean(entry.summary),
          style.dim(Sanitizer.clean(entry.origin.description)),
        ]
      }
    ).text
  }

  func text(_ listing: GrantListing) -> String {
    if listing.grants.isEmpty {
      return "no grants in \(Sanitizer.clean(listing.journal.description))\n"
    }
    let rows = listing.rows(\.asked) { Timestamp.local($0, listing.users.system) }
    let table = Table(rows).text
    guard let columns = style.columns,
      table.split(separator: "\n").contains(where: { String($0).displayWidth > columns })
    else { return table }
    // In a narrow terminal each grant has lines of its own.
    return rows.map { row in
      let lines = [row[0...2].joined(separator: "   "), row[3]] + row[4...].filter { !$0.isEmpty }
      return lines.enumerated().map { index, line in
        let indent = index == 0 ? 0 : 2
        return String(repeating: " ", count: indent)
          + style.wrapped(line, indent: indent, hanging: 2) + "\n"
      }.joined()
    }.joined()
  }

  func text(_ result: RevokeResult) -> String {
    let word = result.isDryRun ? "would revoke" : "revoked"
    var lines = result.revoked.map { grant in
      "\(word)  "
        + Sanitizer.clean("\(grant.asked)   \(grant.place)   \(grant.change.command.summary)")
    }
    if result.revoked.isEmpty, result.open.isEmpty {
      lines.append("nothing to revoke in \(Sanitizer.clean(result.journal.description))")
    } else if result.isDryRun {
      lines.append("nothing was changed (--dry-run)")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  func text(_ summary: LogSummary) -> String {
    let header = ["accessor", "checks", "granted", "refused", "unavailable", "share"].map(style.dim)
    let rows = summary.lines.map { line in
      [
        Sanitizer.clean(line.accessor), "\(line.checks)", "\(line.granted)", "\(line.refused)",
        "\(line.unavailable)", "\(Int((line.grantedShare * 100).rounded())) %",
      ]
    }
    return Table([header] + rows).text
  }
}

extension GrantListing {
  /// Returns one row for each grant, safe for a terminal.
  ///
  /// - Parameters:
  ///   - name: Returns the text of the first column.
  ///   - clock: Writes a time in microseconds since 1970 (UTC).
  /// - Returns: The texts of the columns.
  func rows(_ name: (Grant) -> String, _ clock: (Int64) -> String) -> [[String]] {
    grants.map { grant in
      let end: String? =
        switch grant.stage {
        case .missing: "missing"
        case .released: "ended, files that inherited it not all reached"
        case .ended: "ended, somebody else took it away"
        default:
          grant.lifetime.hasEnded(at: time, users.system)
            ? "EXPIRED, still in place"
            : grant.lifetime.words(clock)
        }
      return [
        name(grant), users.userName(grant.uid), grant.place, grant.change.command.summary,
        "since \(Timestamp.microseconds(grant.time).map(clock) ?? grant.time)", end ?? "",
      ].map(Sanitizer.clean)
    }
  }
}
