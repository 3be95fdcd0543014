internal import CCap

// What libacl knows about an ACL; no function here touches the system.
extension AccessControlList {
  private func withEntries<Result>(
    _ body: (UnsafePointer<ccap_acl_entry>?, Int32) -> Result
  ) -> Result {
    let entries = entries.map {
      ccap_acl_entry(
        tag: Int32($0.tag.rawValue), id: $0.id, permissions: UInt32($0.permissions.rawValue))
    }
    return unsafe entries.withUnsafeBufferPointer {
      unsafe body($0.baseAddress, Int32($0.count))
    }
  }

  /// The entries in the format of setfacl(1), see acl_to_any_text(3): `u:33:r-x,m::r-x`.
  ///
  /// Empty if libacl cannot represent the entries.
  package var text: String {
    // The longest entry is `g:4294967295:rwx,`.
    let capacity = entries.count * 20 + 1
    let bytes = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
      let length = unsafe withEntries {
        unsafe ccap_acl_text($0, $1, buffer.baseAddress, capacity)
      }
      return unsafe buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
