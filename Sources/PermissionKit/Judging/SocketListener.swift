/// Whether a program takes the connection that the permissions of a socket allow.
///
/// The file of a socket stays when its program has ended; then connect(2) fails with ECONNREFUSED.
struct SocketListener {
  /// What is known about a program that listens.
  enum Answer {
    /// One listens.
    case listens
    /// Nobody does: ECONNREFUSED.
    case absent
    /// The kernel refuses the connection: EACCES.
    case refused
    /// None is seen, with what was tried.
    case unseen(String)
  }

  private let inspection: Inspection
  private let ask: Ask

  private var system: any System { inspection.system }

  /// Creates the question about a socket.
  init(_ inspection: Inspection, _ ask: Ask) {
    self.inspection = inspection
    self.ask = ask
  }

  /// Asks whether a program listens.
  func answer() -> Answer {
    let socket: Descriptor
    do throws(Errno) {
      guard let opened = try open() else {
        return .unseen("these are saved facts, so no program can be asked")
      }
      socket = opened
    } catch {
      return .unseen("open: \(error)")
    }
    defer { system.close(socket) }
    do throws(Errno) {
      if try system.listener(on: socket, connects: mayConnect) { return .listens }
      return .unseen("connecting was not tried")
    } catch .ECONNREFUSED {
      return .absent
    } catch .EACCES where inspection.method != .none {
      return .refused
    } catch {
      return .unseen("connect: \(error)")
    }
  }

  /// Whether connect(2) may be called; by this process, whichever user the subject is.
  ///
  /// The root of another process may be somebody else's, who could make a socket there.
  private var mayConnect: Bool {
    inspection.context.probe.opens && inspection.context.root == "/" && ask.resource.mayConnect
      && inspection.subject.process == nil
  }

  /// Opens the very socket of the facts with O_PATH; nil if the facts are those of a document.
  private func open() throws(Errno) -> Descriptor? {
    guard !inspection.isSaved else { return nil }
    guard let index = inspection.facts.target(of: ask.path) else { throw .ESTALE }
    let root = inspection.subject.process.map { PathBytes("/proc/\($0)/root") } ?? "/"
    // Without links, which would lead out of the root of another process.
    let path = inspection.facts.path(of: index).below(root)
    let socket = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
    do throws(Errno) {
      guard InodeIdentity(try system.statx(socket)) == inspection.identities[index] else {
        throw .ESTALE
      }
      return socket
    } catch {
      system.close(socket)
      throw error
    }
  }
}
