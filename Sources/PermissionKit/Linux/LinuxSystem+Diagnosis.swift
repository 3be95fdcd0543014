internal import CCap

// Calls that only the search for a reason makes.
extension LinuxSystem {
  /// openat2(2) with O_CLOEXEC and without RESOLVE_… flags; a NUL in the path gives EINVAL.
  package func openat2(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags
  ) throws(Errno) -> Descriptor {
    if path.bytes.contains(0) { throw .EINVAL }
    if let apart {
      let flags = flags.union(.closeOnExec).rawValue
      return Descriptor(
        rawValue: Int32(try apart.ask(.openat2, directory, path, flags: flags).result))
    }
    let result = unsafe withCString(path) {
      unsafe ccap_openat2(directory.rawValue, $0, flags.union(.closeOnExec).rawValue, 0)
    }
    return Descriptor(rawValue: try check(result))
  }

  /// lsm_list_modules(2), which needs Linux 6.8.
  package func lsm_list_modules() throws(Errno) -> [UInt64] {
    var ids = [UInt64](repeating: 0, count: 32)
    let count = try check(unsafe ccap_lsm_list_modules(&ids))
    return Array(ids.prefix(Int(count)))
  }

  /// VIDIOC_REQBUFS with a count of 0, for a single-planar and then a multi-planar capture queue.
  package func reqbufs(none descriptor: Descriptor) throws(Errno) {
    _ = try check(ccap_reqbufs_none(descriptor.rawValue))
  }
}
