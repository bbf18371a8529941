/// The system's chance, or one that is given.
///
/// It takes room: ThreadSanitizer reads at the address of what is `inout`, and what takes none has none.
struct Chance: RandomNumberGenerator {
    var given: UInt64?

    mutating func next() -> UInt64 { given ?? .random(in: .min ... .max) }
}
