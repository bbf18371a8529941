import BeagleNetCache
import Foundation

extension [StoredResponse.SelectingField] {
    /// Returns the JSON of fields that have digests; `nil` if any value isn't one.
    func storedText() throws -> String? {
        if isEmpty { return "[]" }
        let areDigests = allSatisfy { field in
            guard let digits = field.value?.utf8 else { return true }
            let isHexadecimal = digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
            return isHexadecimal && digits.count == KeyDigests.valueDigits
        }
        guard areDigests else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Reads `storedText`; `nil` if it is malformed.
    init?(stored text: String) {
        self = []
        if text == "[]" { return }
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
        } catch {
            return nil
        }
    }
}
