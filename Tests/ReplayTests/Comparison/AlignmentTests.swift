import Testing

@testable import BeagleNetReplay

struct AlignmentTests {
    private static let elementsAreMatchedInOrderArguments: [([Int], [Int], [Int?], [Int])] = [
        ([], [], [], []), ([1], [], [nil], []), ([], [1], [], [0]), ([1, 2, 3], [1, 2, 3], [0, 1, 2], []),
        ([1, 2, 3], [3, 1, 2], [1, 2, nil], [0]), ([1, 1, 2], [1, 2], [0, nil, 1], []),
        ([1, 2, 3], [1, 9, 3], [0, 1, 2], []),
        ([1, 2, 3, 4], [2, 9, 4, 8], [nil, 0, 1, 2], [3]),
    ]

    @Test(arguments: Self.elementsAreMatchedInOrderArguments)
    func elementsAreMatchedInOrder(_ one: [Int], _ other: [Int], _ partners: [Int?], _ added: [Int]) {
        let alignment = Alignment(inOrder: one, other)
        #expect(alignment.partners == partners)
        #expect(alignment.added == added)
        #expect(alignment.moved.isEmpty)
    }

    private static let movedElementsAreMinimalArguments: [([Int], [Int], Set<Int>)] = [
        ([1, 2, 3], [3, 1, 2], [2]), ([1, 2, 3, 4], [2, 3, 4, 1], [0]), ([1, 2, 3], [1, 2, 3], []),
        ([1, 1], [1, 1], []),
        ([4, 3, 2, 1], [1, 2, 3, 4], [0, 1, 2]),
    ]

    @Test(arguments: Self.movedElementsAreMinimalArguments)
    func movedElementsAreMinimal(_ one: [Int], _ other: [Int], _ moved: Set<Int>) {
        #expect(Alignment([(one, other)]).moved.count == moved.count)
    }

    private static let longestIncreasingSubsequenceIsFoundArguments: [([Int], [Int])] = [
        ([], []), ([1], [0]), ([3, 1, 2], [1, 2]), ([5, 6, 1, 2, 3], [2, 3, 4]), ([1, 1, 1], [2]), ([9, 8, 7], [2]),
    ]

    @Test(arguments: Self.longestIncreasingSubsequenceIsFoundArguments)
    func longestIncreasingSubsequenceIsFound(_ list: [Int], _ places: [Int]) {
        let found = Alignment.longestIncreasing(list)
        #expect(found.count == places.count)
        #expect(zip(found, found.dropFirst()).allSatisfy { $0 < $1 && list[$0] < list[$1] })
    }
}
