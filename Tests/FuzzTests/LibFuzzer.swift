#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The target that `BEAGLENET_FUZZ_TARGET` names.
private let chosen: FuzzTarget = {
    guard let name = getenv("BEAGLENET_FUZZ_TARGET").map({ String(cString: $0) }),
        let target = FuzzTarget(rawValue: name)
    else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        fatalError("set BEAGLENET_FUZZ_TARGET to one of: \(names)")
    }
    return target
}()

/// The function that libFuzzer calls with each input: https://llvm.org/docs/LibFuzzer.html
@_cdecl("LLVMFuzzerTestOneInput")
public func feedOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    chosen.feed(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
