import PermissionKit

// Plans: what changes, for how long, who else gains, and the equivalent commands.
extension HumanFormat {
  func text(_ plans: [GrantPlan]) -> String {
    plans.map { plan in
      text(plan) + plan.steps.map { "  \(style.dim($0.typed))\n" }.joined()
    }.joined() + (plans.isEmpty ? "" : "nothing was changed (--dry-run)\n")
  }

  func question(_ plans: [GrantPlan]) -> String { plans.map(text).joined() }

  private func text(_ plan: GrantPlan) -> String {
    let who = Sanitizer.clean(plan.subject.displayName)
    let heading = "\(style.bold(plan.title)) for \(who), by \(plan.strategy):"
    let lines = plan.changes + plan.effects.map { style.wrapped($0, indent: 2, hanging: 4) }
    return ([heading] + lines.map { "  " + $0 }).map { $0 + "\n" }.joined()
  }
}
