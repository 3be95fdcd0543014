internal import JSONSyntax
internal import PermissionKit

/// The JSON form of a plan.
enum PlanDocument {
  static let plan = JSONRecord<GrantPlan>([
    .always("accessor", JSONSchema.string) { .string($0.accessor) },
    .always("strategy", JSONSchema.oneOf(GrantStrategies.names)) { .string($0.strategy) },
    .always("steps", JSONSchema.array(step.schema)) { .array($0.steps.map(step.json)) },
    .always("outcome", ReportDocument.verdicts) { .string($0.outcome.rawValue) },
    .always("needsNewLogin", JSONSchema.bool) { .bool($0.needsNewLogin) },
    .always("needsRoot", JSONSchema.bool) { .bool($0.needsRoot) },
    .always("persistence", ReportDocument.persistences) { .string($0.persistence.rawValue) },
    .always("lasts", ReportDocument.lastsSchema) { .string($0.lasts) },
    .sometimes("expires", ReportDocument.timeSchema("The time when the grant expires.")) {
      $0.expires.map { .string(Timestamp.rfc3339($0)) }
    },
    .always("othersAffected", JSONSchema.array(JSONSchema.string)) {
      .array($0.othersAffected.map { .string($0) })
    },
    .always("objections", JSONSchema.array(ReportDocument.objection.schema)) {
      .array($0.objections.map(ReportDocument.objection.json))
    },
    .always("warnings", JSONSchema.array(JSONSchema.string)) {
      .array($0.warnings.map { .string($0) })
    },
  ])

  private static let step = JSONRecord<GrantPlan.Step>([
    .always("place", JSONSchema.string) { .string($0.place) },
    .always("change", JSONSchema.string) { .string($0.change.command.summary) },
    .always("command", JSONSchema.array(JSONSchema.string)) {
      ReportDocument.texts($0.change.command.arguments)
    },
    .always("shell", ReportDocument.shellSchema) { .string($0.typed) },
    .always("needsRoot", JSONSchema.bool) { .bool($0.needsRoot) },
    .always("persistence", ReportDocument.persistences) {
      .string($0.change.command.persistence.rawValue)
    },
    .always("lasts", ReportDocument.lastsSchema) { .string($0.change.command.persistence.words) },
  ])
}
