/// Finds whether a program accepts the connection that the permissions of a socket allow.
///
/// The file of a socket stays when its program has ended; then connect(2) fails with ECONNREFUSED.
struct SocketListener {
  /// The answer to the question whether a program listens.
  enum Answer {
    /// A program listens.
    case listens
    /// No program listens: ECONNREFUSED.
    case absent
    /// The kernel refuses the connection: EACCES.
    case refused
    /// No listening program is visible; the text says what was tried.
    case unseen(String)
  }

  private let inspection: Inspection
  private let ask: ResourceQuery

  private var system: any System { inspection.system }

  /// Creates the question about a socket.
  init(_ inspection: Inspection, _ ask: ResourceQuery) {
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

  /// Whether this process may call connect(2), for any subject.
  ///
  /// The root of another process may belong to somebody else, who could create a socket there.
  private var mayConnect: Bool {
    inspection.context.probe.opens && inspection.context.root == "/" && ask.resource.mayConnect
      && inspection.subject.process == nil
  }

  /// Opens the socket of the facts itself with O_PATH; nil if the facts are those of a document.
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
