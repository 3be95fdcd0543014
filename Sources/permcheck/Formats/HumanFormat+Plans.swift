import PermissionKit

// Plans: what changes, for how long, who else gains, and the equivalent commands.
extension HumanFormat {
  func text(_ plans: [GrantPlan]) -> String {
    plans.map { plan in
      heading(plan) + plan.description
        + plan.steps.map { step in
          "  \(style.dim(step.typed))\n"
        }.joined()
    }.joined() + (plans.isEmpty ? "" : "nothing was changed (--dry-run)\n")
  }

  func question(_ plans: [GrantPlan]) -> String {
    plans.map { heading($0) + $0.description }.joined()
  }

  private func heading(_ plan: GrantPlan) -> String {
    let who = Sanitizer.clean(plan.subject.displayName)
    return "\(style.bold(plan.title)) for \(who), by \(plan.strategy):\n"
  }
}
