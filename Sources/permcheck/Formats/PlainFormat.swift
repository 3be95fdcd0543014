import PermissionKit

/// Reports for line tools: a record a line, its fields apart by tabs.
///
/// accessor, its status, path, the resource's status, need, errno, rule, reason code, message.
enum PlainFormat {
  static func text(_ reports: [AccessReport]) -> String {
    reports.flatMap { report in
      report.resources.isEmpty
        ? [line([report.accessor, report.status.rawValue])]
        : report.resources.map { record(report, $0) }
    }.joined()
  }

  private static func record(_ report: AccessReport, _ resource: ResourceReport) -> String {
    let errno = resource.probe?.errno?.description ?? resource.decision?.errnoName
    return line([
      report.accessor, report.status.rawValue, resource.path.description,
      resource.status.rawValue, resource.need.letters, errno ?? "",
      resource.decision?.rule.description ?? "", resource.reasons.first?.code.rawValue ?? "",
      resource.reasons.first?.message ?? "",
    ])
  }

  static func line(_ fields: [String]) -> String {
    fields.map(Sanitizer.clean).joined(separator: "\t") + "\n"
  }
}
