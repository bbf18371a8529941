import Foundation
import Testing

@testable import BeagleNet

struct TableHashTests {
    private func bits(_ combine: (inout TableHash) -> Void) -> UInt64 {
        var hash = TableHash()
        combine(&hash)
        return hash.bits
    }

    @Test func textsThatDifferInOneByteHashDifferently() {
        var seen: Set<UInt64> = []
        var texts: [Data] = []
        for count in 0...40 {
            texts.append(Data(repeating: 0, count: count))
            for index in 0..<count {
                var text = Data(repeating: 0, count: count)
                text[index] = 1
                texts.append(text)
            }
        }
        for text in texts { seen.insert(bits { $0.combine(text) }) }
        #expect(seen.count == texts.count)
        #expect(texts.allSatisfy { text in seen.contains(bits { $0.combine(text) }) })
    }

    @Test func boundariesBetweenPartsChangeTheHash() {
        #expect(
            bits {
                $0.combine("ab"); $0.combine("c")
            }
                != bits {
                    $0.combine("a"); $0.combine("bc")
                }
        )
        #expect(bits { $0.combine("é") } != bits { $0.combine("e\u{301}") })
        #expect(bits { $0.combine("text") } == bits { $0.combine(Data("text".utf8)) })
    }

    @Test func lowBitsAreWellDistributed() {
        let low = (0..<1_000).map { number in bits { $0.combine("/item/\(number)") } & 1_023 }
        #expect(Set(low).count > 500)
    }
}
