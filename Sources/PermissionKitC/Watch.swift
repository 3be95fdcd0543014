internal import CPermissionKit
@_spi(SystemCalls) internal import PermissionKit
internal import Synchronization

/// The object behind a `pk_watch`: a thread that checks again after each change, and its newest
/// answer.
final class Watch: Sendable {
  private let answers: Newest
  private let thread: WatchThread?

  /// Starts the thread.
  init(_ name: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?) {
    let system = LinuxSystem()
    let answers = Newest(system)
    self.answers = answers
    do throws(PermissionError) {
      let inquiry = try unsafe Inquiry(name, options, system)
      thread = try Self.start(system, inquiry, answers)
    } catch {
      thread = nil
      answers.put(Answer(error, name: unsafe name.map { unsafe String(cString: $0) } ?? ""))
    }
  }

  /// Readable while there is an answer; nil if there is none.
  var descriptor: Int32? { answers.event?.request.descriptor.rawValue }

  /// Returns the newest answer, if it was not returned before.
  func next() -> Answer? { answers.take() }

  private static func start(
    _ system: any System, _ inquiry: Inquiry, _ answers: Newest
  ) throws(PermissionError) -> WatchThread {
    let isFirst = Mutex(true)
    do throws(Errno) {
      return try WatchThread(system, inquiry.accessor) { update in
        let told = Result { () throws(PermissionError) -> Answer? in
          let (report, cause) = try update.get()
          let isNews = isFirst.withLock { first in
            defer { first = false }
            return first || cause != nil
          }
          return isNews ? try inquiry.answer(report) : nil
        }
        switch told {
        case .success(let answer): if let answer { answers.put(answer) }
        case .failure(let error): answers.put(Answer(error, name: inquiry.name))
        }
      }
    } catch {
      throw PermissionError(
        .system, "nothing can be watched", call: "eventfd", errno: error,
        advice: "raise the limit of open files, ulimit -n")
    }
  }
}

/// The newest answer of a thread, with a descriptor that is readable until the answer is taken.
private final class Newest: Sendable {
  private final class Box: Sendable {
    let answer: Answer
    init(_ answer: Answer) { self.answer = answer }
  }

  let event: EventFD?
  /// The address of a box that is retained; 0 if there is none.
  private let slot = Atomic<UInt>(0)

  init(_ system: any System) { event = try? EventFD(system) }

  deinit { _ = exchange(nil) }

  func put(_ new: Answer) {
    if exchange(Box(new)) == nil { event?.signal() }
  }

  func take() -> Answer? {
    // Before the answer: an answer that comes after this one signals again.
    event?.take()
    return exchange(nil)?.answer
  }

  private func exchange(_ new: Box?) -> Box? {
    let pointer = unsafe new.map { unsafe Unmanaged.passRetained($0).toOpaque() }
    let old = slot.exchange(UInt(bitPattern: pointer), ordering: .acquiringAndReleasing)
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: old) else { return nil }
    return unsafe Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue()
  }
}
