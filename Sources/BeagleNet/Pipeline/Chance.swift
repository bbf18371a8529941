/// The system's source of random numbers, or a given number.
///
/// It has a stored property because ThreadSanitizer reads at the address of `inout` values, and an empty struct has no
/// storage.
struct Chance: RandomNumberGenerator {
    var given: UInt64?

    mutating func next() -> UInt64 { given ?? .random(in: .min ... .max) }
}
