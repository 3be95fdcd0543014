internal import CCap

extension CapabilitySet {
  /// The names of the capabilities that libcap knows, see cap_to_name(3): `CAP_DAC_OVERRIDE`.
  package var names: [String] {
    (0..<64).filter { rawValue & 1 << UInt64($0) != 0 }.compactMap { number in
      let name = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
        unsafe ccap_cap_name(Int32(number), buffer.baseAddress)
        return unsafe buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      }
      return name.isEmpty ? nil : String(decoding: name, as: UTF8.self).uppercased()
    }
  }
}
