import Foundation
import Testing

struct CorpusTests {
    /// The fuzzers' inputs, complete and truncated at every byte.
    @Test(arguments: FuzzTarget.allCases)
    func corpusDoesNotCrashTheTarget(_ target: FuzzTarget) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus/\(target.rawValue)")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let input = [UInt8](try Data(contentsOf: file))
            for length in 0...input.count {
                input[..<length].withUnsafeBytes { target.feed($0) }
            }
        }
    }
}
