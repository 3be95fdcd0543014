public import CPermissionKit

// The functions of permissionkit.h, which documents them; each has its C name.

/// Checks an accessor.
///
/// - Parameters:
///   - accessor: The name of the accessor.
///   - options: What to check, and for whom; nil for this thread.
/// - Returns: A result for `pk_result_free(_:)`; never nil.
@_cdecl("pk_check")
public func pk_check(
  _ accessor: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
) -> OpaquePointer { unsafe StoredAnswer.allocate(Inquiry.check(accessor, options)) }

/// Checks an accessor, and requests access if it is missing and a request can help.
///
/// - Parameters:
///   - accessor: The name of the accessor.
///   - options: What to request, and for whom; nil for this thread.
/// - Returns: A result for `pk_result_free(_:)`; never nil.
@_cdecl("pk_request")
public func pk_request(
  _ accessor: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
) -> OpaquePointer { unsafe StoredAnswer.allocate(Inquiry.request(accessor, options)) }

/// Checks an accessor, and finds what a request would change.
///
/// - Parameters:
///   - accessor: The name of the accessor.
///   - options: What to request, and for whom; nil for this thread.
/// - Returns: A result for `pk_result_free(_:)`; never nil.
@_cdecl("pk_plan")
public func pk_plan(
  _ accessor: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
) -> OpaquePointer { unsafe StoredAnswer.allocate(Inquiry.plan(accessor, options)) }

/// Revokes what requests gave, and checks.
///
/// - Parameters:
///   - accessor: The name of the accessor.
///   - options: Whose access is taken back; nil for that of this thread.
/// - Returns: A result for `pk_result_free(_:)`; never nil.
@_cdecl("pk_revoke")
public func pk_revoke(
  _ accessor: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
) -> OpaquePointer { unsafe StoredAnswer.allocate(Inquiry.revoke(accessor, options)) }

/// Checks an accessor until there is access.
///
/// - Parameters:
///   - accessor: The name of the accessor.
///   - options: What to check, and for whom; nil for this thread.
///   - milliseconds: The longest wait; the greatest number for no end.
/// - Returns: A result for `pk_result_free(_:)`; never nil.
@_cdecl("pk_wait")
public func pk_wait(
  _ accessor: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?, _ milliseconds: UInt32
) -> OpaquePointer {
  unsafe StoredAnswer.allocate(Inquiry.wait(accessor, options, milliseconds: milliseconds))
}

/// Begins to watch an accessor.
///
/// - Parameters:
///   - accessor: The name of the accessor.
///   - options: What to check, and for whom; nil for this thread.
/// - Returns: A watch for `pk_watch_free(_:)`; never nil.
@_cdecl("pk_watch_new")
public func pk_watch_new(
  _ accessor: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
) -> OpaquePointer { unsafe Handle.make(Watch(accessor, options)) }

/// Returns a descriptor that is readable while there is a result; -1 without one.
@_cdecl("pk_watch_descriptor")
public func pk_watch_descriptor(_ watch: OpaquePointer?) -> Int32 {
  guard let watch = unsafe watch else { return -1 }
  return unsafe Handle<Watch>.object(watch).descriptor ?? -1
}

/// Returns the newest result that was not returned yet; nil if there is none.
@_cdecl("pk_watch_next")
public func pk_watch_next(_ watch: OpaquePointer?) -> OpaquePointer? {
  guard let watch = unsafe watch else { return nil }
  return unsafe Handle<Watch>.object(watch).next().map { unsafe StoredAnswer.allocate($0) }
}

/// Ends a watch; nil is allowed.
@_cdecl("pk_watch_free")
public func pk_watch_free(_ watch: OpaquePointer?) { unsafe Handle<Watch>.free(watch) }

/// Returns a cancellation for `pk_cancellation_free(_:)`; never nil.
@_cdecl("pk_cancellation_new")
public func pk_cancellation_new() -> OpaquePointer { unsafe Handle.make(Cancellation()) }

/// Ends the calls that were given a cancellation; nil is allowed.
@_cdecl("pk_cancel")
public func pk_cancel(_ cancellation: OpaquePointer?) {
  guard let cancellation = unsafe cancellation else { return }
  unsafe Handle<Cancellation>.object(cancellation).cancel()
}

/// Frees a cancellation; nil is allowed.
@_cdecl("pk_cancellation_free")
public func pk_cancellation_free(_ cancellation: OpaquePointer?) {
  unsafe Handle<Cancellation>.free(cancellation)
}

/// Tells the name and the summary of each accessor.
///
/// - Parameters:
///   - tell: Called for each.
///   - data: For `tell`.
@_cdecl("pk_accessors")
public func pk_accessors(
  _ tell:
    (
      @convention(c) (UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) ->
        Void
    )?,
  _ data: UnsafeMutableRawPointer?
) {
  guard let tell = unsafe tell else { return }
  for (name, summary) in Inquiry.names {
    unsafe name.withCString { name in
      unsafe summary.withCString { unsafe tell(name, $0, data) }
    }
  }
}

/// Explains the access to a path.
///
/// - Parameters:
///   - path: The path, as bytes up to the NUL.
///   - options: What to check, and for whom; nil for this thread.
/// - Returns: A result for `pk_result_free(_:)`; never nil.
@_cdecl("pk_explain_path")
public func pk_explain_path(
  _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
) -> OpaquePointer { unsafe StoredAnswer.allocate(Inquiry.explain(path, options)) }

/// Frees a result and its texts; nil is allowed.
@_cdecl("pk_result_free")
public func pk_result_free(_ result: OpaquePointer?) { unsafe StoredAnswer.free(result) }

/// Returns the status of a result.
@_cdecl("pk_result_status")
public func pk_result_status(_ result: OpaquePointer?) -> pk_status {
  unsafe StoredAnswer.status(result)
}

/// Returns 1 if there is access, and otherwise 0.
@_cdecl("pk_result_is_granted")
public func pk_result_is_granted(_ result: OpaquePointer?) -> Int32 {
  unsafe StoredAnswer.isGranted(result)
}

/// Returns 1 if a request of this process could turn the refusal into access, and otherwise 0.
@_cdecl("pk_result_is_requestable")
public func pk_result_is_requestable(_ result: OpaquePointer?) -> Int32 {
  unsafe StoredAnswer.requestability(result) == PK_REQUESTABLE ? 1 : 0
}

/// Returns who can make the change that gives access.
@_cdecl("pk_result_requestability")
public func pk_result_requestability(_ result: OpaquePointer?) -> pk_requestability {
  unsafe StoredAnswer.requestability(result)
}

/// Returns why no request helps; empty if one does, or if there is access.
@_cdecl("pk_result_not_requestable")
public func pk_result_not_requestable(_ result: OpaquePointer?) -> UnsafePointer<CChar> {
  unsafe StoredAnswer.text(.obstacle, of: result)
}

/// Returns the code of the main reason; empty if there is none.
@_cdecl("pk_result_reason")
public func pk_result_reason(_ result: OpaquePointer?) -> UnsafePointer<CChar> {
  unsafe StoredAnswer.text(.reason, of: result)
}

/// Returns why the status is what it is, in one line.
@_cdecl("pk_result_message")
public func pk_result_message(_ result: OpaquePointer?) -> UnsafePointer<CChar> {
  unsafe StoredAnswer.text(.message, of: result)
}

/// Returns the result in one line, as permcheck prints it.
@_cdecl("pk_result_line")
public func pk_result_line(_ result: OpaquePointer?) -> UnsafePointer<CChar> {
  unsafe StoredAnswer.text(.line, of: result)
}

/// Returns every device with its reasons and the commands that help.
@_cdecl("pk_result_explanation")
public func pk_result_explanation(_ result: OpaquePointer?) -> UnsafePointer<CChar> {
  unsafe StoredAnswer.text(.explanation, of: result)
}

/// Returns what a request did; empty if nothing was requested.
@_cdecl("pk_result_request")
public func pk_result_request(_ result: OpaquePointer?) -> UnsafePointer<CChar> {
  unsafe StoredAnswer.text(.request, of: result)
}

/// Returns what a request changes, or would change; empty if nothing.
@_cdecl("pk_result_plan")
public func pk_result_plan(_ result: OpaquePointer?) -> UnsafePointer<CChar> {
  unsafe StoredAnswer.text(.plan, of: result)
}

/// Returns the kind of the error; empty without an error.
@_cdecl("pk_result_error")
public func pk_result_error(_ result: OpaquePointer?) -> UnsafePointer<CChar> {
  unsafe StoredAnswer.text(.error, of: result)
}

/// Returns the result as JSON.
@_cdecl("pk_result_json")
public func pk_result_json(_ result: OpaquePointer?) -> UnsafePointer<CChar> {
  unsafe StoredAnswer.text(.json, of: result)
}

/// Returns the name of a status as in JSON.
@_cdecl("pk_status_name")
public func pk_status_name(_ status: pk_status) -> UnsafePointer<CChar> {
  unsafe StaticText.name(of: status)
}

/// Returns the version of the library.
@_cdecl("pk_version")
public func pk_version() -> UnsafePointer<CChar> { unsafe StaticText.version }
