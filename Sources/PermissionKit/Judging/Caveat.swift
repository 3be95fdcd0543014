/// The part of what people mean by a granted permission that the kernel refuses nevertheless.
struct Caveat {
  private let evidence: Evidence

  init(_ evidence: Evidence) { self.evidence = evidence }

  /// The sentence about it, for people; nil if nothing is refused.
  var text: String? {
    let ask = evidence.ask
    if let contents = evidence.contents,
      let text = ContentsReport.caveat(ofProtected: contents.protected)
    {
      return text
    }
    if ask.named?.name == .exec { return ofScript }
    if ask.named?.name == .write, let inode = evidence.decision.inode,
      evidence.facts.inodes[inode].kind == .fifo
    {
      return "open(2) waits until a program opens it for reading"
    }
    guard ask.operation == nil, ask.need.contains(.write), !ask.isSocket, !ask.isDirectory,
      evidence.future == nil, evidence.decision.inode != nil
    else { return nil }
    let write = OperationQuestion(.write)
    let decision = evidence.inspection.evaluator.decide(.operation(write), path: ask.path)
    switch decision.verdict {
    case .granted: return nil
    case .undetermined where decision.rule == .unreadable || decision.rule == .unmappedID:
      let why =
        decision.rule == .unmappedID
        ? "its owner has no id in this user namespace"
        : "fs.protected_regular and fs.protected_fifos cannot be read"
      return
        "whether a program that opens it with O_CREAT, as a shell's > does, is refused is unknown: \(why)"
    case .undetermined: return nil
    case .refused(let errno):
      let reason = ReasonFinder(evidence.inspection)
        .refusal(ask, decision, errno, steps: [])
      return decision.rule == .stickyDirectory
        ? reason.message
        : "a program that empties it, as a shell's > does, is refused: \(reason.message)"
    }
  }

  /// The refusal of the script to its interpreter, which opens it as any file; execve(2) does not ask for that.
  private var ofScript: String? {
    let (ask, inspection) = (evidence.ask, evidence.inspection)
    guard let inode = evidence.decision.inode,
      case .script(let interpreter) = evidence.facts.inodes[inode].program
    else { return nil }
    let decision = inspection.evaluator.decide(.open(.readOnly), path: ask.path)
    guard let errno = decision.errno else { return nil }
    let finder = ReasonFinder(inspection)
    let reason = finder.refusal(ask.asking(for: .read), decision, errno, steps: [])
    return
      "\(interpreter) itself opens the script, and \(finder.name) may not read it (\(errno)): \(reason.message)"
  }
}
