internal import CCap
internal import Glibc

extension TreeWorker {
  /// Asks about a top, and enters it if it is a folder and no link.
  mutating func enterTop() {
    let top = PathBytes(path)
    if let home { _ = ccap_enter_directory(home.rawValue) }
    guard system.reach(top) == .immediate else { return report(.remote, "") }
    var bars = TreeCensus.Bars.none
    switch asker {
    case .kernel, .visitor: break
    case .judge(let judge): if !judgeTop(top, judge) { return }
    case .census(let census):
      guard let found = countTop(top, census) else { return }
      bars = found
    }
    do throws(Errno) {
      let folder = try system.openat(
        .currentDirectory, top, [.directory, .noFollow, .nonBlocking], mode: 0)
      guard let status = try? system.statx(folder) else {
        system.close(folder)
        return report(.changed, "")
      }
      ask(folder.rawValue, "")
      push(
        folder.rawValue, Place(fileSystem: status.fileSystem, inode: status.inode), below: nil, bars
      )
    } catch {
      if [EMFILE, ENFILE].contains(error.rawValue) { return report(.failed(error), "") }
      switch asker {
      case .census where error == .EACCES: return walk.count(unlisted: 1)
      case .judge, .census:
        if error != .ENOTDIR, error != .ELOOP { report(.failed(error), "") }
        return
      case .kernel, .visitor: break
      }
      walk.count(asked: 1, unlisted: error == .EACCES ? 1 : 0)
      let status = try? system.openat(.currentDirectory, top, [.path, .noFollow], mode: 0)
      let isLink = status.flatMap { try? system.statx($0) }?.kind == .symbolicLink
      if let status { system.close(status) }
      do throws(Errno) {
        try system.faccessat2(top, walk.question.need)
      } catch {
        report(.refused(error), "", isLink: isLink)
      }
    }
  }
}
