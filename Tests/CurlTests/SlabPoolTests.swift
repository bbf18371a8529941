import Foundation
import Testing

@testable import BeagleNetCurl

struct SlabPoolTests {
    @Test func memoryInUseIsNotHandedOutAgain() {
        let pool = SlabPool()
        // `Data` stores a few bytes inline.
        let text = String(repeating: "first ", count: 20)
        var slab = pool.take()
        filled(&slab, with: text)
        let first = pool.data(of: slab)
        let address = address(of: first)
        var other = pool.take()
        filled(&other, with: String(repeating: "other ", count: 20))
        let second = pool.data(of: other)
        #expect(self.address(of: second) != address, "memory that is still in use was handed out again")
        #expect(first == Data(text.utf8))
        withExtendedLifetime(first) {}
    }

    @Test func freedMemoryIsReused() {
        let pool = SlabPool()
        var addresses: Set<UInt> = []
        // Occupies freed memory, which the allocator would otherwise hand out again.
        var others: [UnsafeMutableRawPointer] = []
        defer { for other in others { other.deallocate() } }
        for index in 0..<100 {
            var slab = pool.take()
            let text = String(repeating: "piece \(index) ", count: 20)
            filled(&slab, with: text)
            do {
                let data = pool.data(of: slab)
                #expect(data == Data(text.utf8))
                addresses.insert(address(of: data))
            }
            others.append(.allocate(byteCount: SlabPool.slabSize, alignment: 16))
        }
        #expect(addresses.count == 1)
    }

    /// The data outlives the owner of the pool.
    @Test func dataKeepsItsMemoryAfterThePoolIsReleased() {
        var pool: SlabPool? = SlabPool()
        var slab = pool?.take()
        let text = String(repeating: "kept ", count: 20)
        if slab != nil { filled(&slab!, with: text) }
        let data = slab.flatMap { pool?.data(of: $0) }
        pool = nil
        #expect(data == Data(text.utf8))
    }

    @Test func copyingDataReleasesTheSlab() {
        let pool = SlabPool()
        var slab = pool.take()
        filled(&slab, with: String(repeating: "copied ", count: 20))
        let copy = pool.copy(of: slab)
        var next = pool.take()
        filled(&next, with: String(repeating: "another ", count: 20))
        let data = pool.data(of: next)
        #expect(copy == Data(String(repeating: "copied ", count: 20).utf8))
        #expect(data == Data(String(repeating: "another ", count: 20).utf8))
    }

    private func filled(_ slab: inout SlabPool.Slab, with text: String) {
        Data(text.utf8).withUnsafeBytes { slab.append($0) }
    }

    private func address(of data: Data) -> UInt {
        data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }
}
