/// The system's source of random numbers, or a fixedValue number.
///
/// It has a stored property because ThreadSanitizer reads at the address of `inout` values, and an empty struct has no
/// storage.
struct RandomSource: RandomNumberGenerator {
    var fixedValue: UInt64?

    mutating func next() -> UInt64 { fixedValue ?? .random(in: .min ... .max) }
}
