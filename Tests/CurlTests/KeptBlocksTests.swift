import BeagleNetTesting
import CBeagleNetCurl
import CBeagleNetMemory
import HTTPTypes
import Testing

@testable import BeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Whether blocks are kept: false with a sanitizer or without glibc.
private let areKept: Bool = {
    defer { beagle_free_blocks() }
    return beagle_keep_blocks()
}()

/// A test doesn't suspend after its thread has begun to keep blocks, so that it stays on that thread.
@Suite(.enabled(if: areKept, "blocks are not kept with a sanitizer or without glibc"))
struct KeptBlocksTests {
    @Test func freedBlockIsReusedForTheSameSize() {
        _ = beagle_keep_blocks()
        defer { beagle_free_blocks() }
        let block = beagle_malloc(100)
        beagle_free(block)
        // glibc allocates 104 bytes, or 16 more if they would be unusable otherwise, and a word for its size.
        let room = beagle_kept_bytes() - 8
        #expect(room == 104 || room == 120)
        #expect(beagle_malloc(room + 1) != block)
        #expect(beagle_malloc(room - 16) != block)
        #expect(beagle_malloc(room - 15) == block)
        #expect(beagle_kept_bytes() == 0)
        beagle_free(block)
        #expect(beagle_malloc(room) == block)
    }

    @Test func lastFreedBlockIsReusedFirst() {
        _ = beagle_keep_blocks()
        defer { beagle_free_blocks() }
        let blocks = (0..<20).map { _ in beagle_malloc(1000) }
        // glibc allocates 1,000 bytes, or 16 more if they would be unusable otherwise.
        let bySize = Dictionary(grouping: blocks) { block in
            let before = beagle_kept_bytes()
            beagle_free(block)
            return beagle_kept_bytes() - before
        }
        for (size, blocks) in bySize {
            // glibc uses one word of it.
            let again = blocks.map { _ in beagle_malloc(size - 8) }
            #expect(again == blocks.reversed())
        }
    }

    @Test func threadThatDoesNotKeepBlocksFreesThem() {
        beagle_free_blocks()
        beagle_free(beagle_malloc(100))
        #expect(beagle_kept_bytes() == 0)
        let text = beagle_strdup("text")
        #expect(text.map { String(cString: $0) } == "text")
        free(text)
    }

    @Test func callocReturnsZeroedMemory() throws {
        _ = beagle_keep_blocks()
        defer { beagle_free_blocks() }
        let dirty = try (0..<20).map { _ in try #require(beagle_malloc(500)) }
        for block in dirty {
            memset(block, 0xAA, 500)
            beagle_free(block)
        }
        let clean = try (0..<20).map { _ in try #require(beagle_calloc(5, 100)) }
        #expect(clean.contains { dirty.contains($0) })
        for block in clean {
            #expect(UnsafeRawBufferPointer(start: block, count: 500).allSatisfy { $0 == 0 })
            beagle_free(block)
        }
        #expect(beagle_calloc((1 << 62) + 125, 4) == nil, "the size overflows to 500 in 64 bits")
    }

    @Test func largeOrExcessBlocksAreFreed() {
        _ = beagle_keep_blocks()
        defer { beagle_free_blocks() }
        beagle_free(beagle_malloc(18 << 10))
        #expect(beagle_kept_bytes() == 0)
        let blocks = (0..<1000).map { _ in beagle_malloc(16 << 10) }
        for block in blocks { beagle_free(block) }
        #expect(((8 << 20) - (17 << 10)...8 << 20).contains(beagle_kept_bytes()))
        beagle_thin_blocks()
        // The blocks have one size, or two.
        #expect((16 * (16 << 10)...32 * (17 << 10)).contains(beagle_kept_bytes()))
        beagle_free_blocks()
        #expect(beagle_kept_bytes() == 0)
    }

    /// A few blocks of each size can be many in total.
    @Test func blocksOfManySizesAreThinnedOut() {
        _ = beagle_keep_blocks()
        defer { beagle_free_blocks() }
        let blocks = stride(from: 24, to: 16_000, by: 16).flatMap { size in (0..<10).map { _ in beagle_malloc(size) } }
        for block in blocks { beagle_free(block) }
        #expect(beagle_kept_bytes() > 7 << 20)
        beagle_thin_blocks()
        #expect(beagle_kept_bytes() <= beagle_idle_bytes)
        #expect(beagle_kept_bytes() > beagle_idle_bytes / 2)
    }

    @Test func fewBlocksAreNotThinnedOut() {
        _ = beagle_keep_blocks()
        defer { beagle_free_blocks() }
        let blocks = (0..<60).map { _ in beagle_malloc(16 << 10) }
        for block in blocks { beagle_free(block) }
        let kept = beagle_kept_bytes()
        #expect(kept > 0)
        beagle_thin_blocks()
        #expect(beagle_kept_bytes() == kept)
    }

    /// Allocates as libcurl does: each block keeps its content, even if it grows or others are freed.
    @Test func blocksDoNotOverlap() throws {
        _ = beagle_keep_blocks()
        defer { beagle_free_blocks() }
        var noise = SeededGenerator(seed: 1)
        var blocks: [Block] = []
        var broken = 0
        for turn in 0..<30_000 {
            let size = Int.random(in: 1...(turn % 10 == 0 ? 20_000 : 400), using: &noise)
            let byte = UInt8.random(in: 1...255, using: &noise)
            let index = Int.random(in: 0..<300, using: &noise)
            if index >= blocks.count {
                let start = try #require(turn % 3 == 0 ? beagle_calloc(1, size) : beagle_malloc(size))
                blocks.append(Block(start: start, size: size, byte: byte))
            } else if turn % 2 == 0 {
                let old = blocks[index]
                let start = try #require(beagle_realloc(old.start, size))
                if !Block(start: start, size: min(size, old.size), byte: old.byte, isNew: false).isWhole { broken += 1 }
                blocks[index] = Block(start: start, size: size, byte: byte)
            } else {
                let block = blocks.remove(at: index)
                if !block.isWhole { broken += 1 }
                beagle_free(block.start)
            }
        }
        #expect(broken == 0)
        #expect(blocks.count > 100)
        #expect(blocks.allSatisfy { $0.isWhole })
        for block in blocks { beagle_free(block.start) }
        #expect(beagle_kept_bytes() > 0)
    }

    @Test func doubleFreeAborts() async throws {
        let result = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
            _ = beagle_keep_blocks()
            let block = beagle_malloc(100)
            beagle_free(beagle_malloc(100))
            beagle_free(block)
            beagle_free(beagle_malloc(2000))
            beagle_free(block)
        }
        #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("a block was freed twice"))
    }

    @Test func writeAfterFreeAborts() async throws {
        let result = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
            _ = beagle_keep_blocks()
            let block = beagle_malloc(100)
            beagle_free(block)
            block?.storeBytes(of: (block?.load(as: UInt8.self) ?? 0) ^ 1, as: UInt8.self)
            _ = beagle_malloc(beagle_kept_bytes() - 8)
        }
        #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("written to after it was freed"))
    }

    /// Runs in its own process, because libcurl must not have been initialized before.
    @Test func libcurlUsesOurAllocator() async {
        await #expect(processExitsWith: .success) {
            _ = beagle_keep_blocks()
            _ = EasyHandle(FieldList([:], lines: []))
            precondition(beagle_kept_bytes() > 1_000)
        }
    }

    @Test(.timeLimit(.minutes(5))) func idleTransportReturnsItsKeptBlocks() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer(.stall)
            let request = try server.request()
            let transport = CurlTransport()
            let kept = { await withTaskExecutorPreference(transport) { await keptBytes() } }
            await withTaskGroup { group in
                for _ in 0..<240 { group.addTask { _ = try? await transport.perform(request) } }
                await server.until { $0.requestCount == 240 }
                group.cancelAll()
            }
            #expect(await kept() > beagle_idle_bytes)
            var rest = Int.max
            for _ in 0..<10 where rest > beagle_idle_bytes {
                try await Task.sleep(for: .milliseconds(1_500))
                rest = await kept()
            }
            #expect(rest > 0)
            #expect(rest <= beagle_idle_bytes)
        }
    }
}

/// Returns the number of bytes that the thread of the caller's executor keeps.
@concurrent private func keptBytes() async -> Int { Int(beagle_kept_bytes()) }

/// Memory that is filled with one byte value.
private struct Block {
    var start: UnsafeMutableRawPointer
    var size: Int
    var byte: UInt8

    /// - Parameter isNew: Whether to fill the memory.
    init(start: UnsafeMutableRawPointer, size: Int, byte: UInt8, isNew: Bool = true) {
        (self.start, self.size, self.byte) = (start, size, byte)
        if isNew { memset(start, Int32(byte), size) }
    }

    var isWhole: Bool { UnsafeRawBufferPointer(start: start, count: size).allSatisfy { $0 == byte } }
}
