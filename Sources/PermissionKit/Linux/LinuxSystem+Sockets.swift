internal import CCap

// Servers that listen on a socket.
extension LinuxSystem {
  /// connect(2); a NUL in the path gives EINVAL.
  package func connect(_ path: PathBytes) throws(Errno) -> Descriptor {
    if path.bytes.contains(0) { throw .EINVAL }
    return Descriptor(
      rawValue: try check(unsafe withCString(path) { unsafe ccap_connect($0, Int32(CCAP_STREAM)) }))
  }

  /// connect(2) of a datagram socket; a NUL in the path gives EINVAL.
  package func connectDatagram(_ path: PathBytes) throws(Errno) -> Descriptor {
    if path.bytes.contains(0) { throw .EINVAL }
    return Descriptor(
      rawValue: try check(
        unsafe withCString(path) { unsafe ccap_connect($0, Int32(CCAP_DATAGRAM)) }))
  }

  /// sock_diag(7), then connect(2).
  package func listener(on socket: Descriptor, connects: Bool) throws(Errno) -> Bool {
    try check(ccap_listener(socket.rawValue, connects ? 1 : 0)) != 0
  }

  /// send(2) with MSG_NOSIGNAL.
  package func send(_ socket: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int {
    Int(
      try check(
        unsafe bytes.withUnsafeBytes {
          unsafe ccap_send(socket.rawValue, $0.baseAddress, UInt($0.count))
        }))
  }
}
