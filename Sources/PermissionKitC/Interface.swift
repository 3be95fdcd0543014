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

/// Returns 1 if a request could turn the refusal into access, and otherwise 0.
@_cdecl("pk_result_is_requestable")
public func pk_result_is_requestable(_ result: OpaquePointer?) -> Int32 {
  unsafe StoredAnswer.isRequestable(result)
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
