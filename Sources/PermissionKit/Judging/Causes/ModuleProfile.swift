/// The profile or policy of a security module that refuses, as far as one change of it is known.
struct ModuleProfile: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isRefused(as: .landlockOrLSM),
      let remedy = Remedy.policy(SecurityModules(evidence.system), evidence.ask.path)
    else { return nil }
    return Finding(remedies: [remedy])
  }
}
