/// What those have in common who lost one connection and ask again, so that they do it at the same time and share the next.
package struct SharedRetry: Sendable {
    /// Which failure it was: later ones have greater numbers.
    package let number: Int
    /// How many connections in a row failed.
    package let failures: Int
    /// What the wait is chosen by, in place of each one's own chance.
    package let chance: UInt64

    package init(number: Int, failures: Int, chance: UInt64) {
        self.number = number
        self.failures = failures
        self.chance = chance
    }
}
