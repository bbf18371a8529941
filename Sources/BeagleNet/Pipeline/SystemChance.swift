/// The system's chance. It takes room: ThreadSanitizer reads at the address of what is `inout`, and what takes none has none.
struct SystemChance: RandomNumberGenerator {
    private let room: UInt8 = 0

    mutating func next() -> UInt64 { .random(in: .min ... .max) }
}
