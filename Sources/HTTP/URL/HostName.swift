/// Conversion of host names to their ASCII form (IDNA, RFC 5891), and validation of their characters.
///
/// `URL(string:)` also converts such names, but only in a process that links Foundation. All URLs that are sent are
/// converted here instead, so that the result is the same in every process.
package enum HostName {
    /// Returns a host in its ASCII form: `bücher.de` as `xn--bcher-kva.de`. A host in ASCII is returned unchanged.
    ///
    /// - Returns: `nil` if a label is too long, or has a character that this conversion doesn't support or that isn't
    ///   allowed in a host.
    package static func ascii(_ host: String) -> String? {
        if host.utf8.allSatisfy({ $0 < 0x80 }) { return host }
        guard let mapped = mapped(host) else { return nil }
        var labels: [String] = []
        // Split bytes, because a dot and a combining mark after it would be one `Character`.
        for label in mapped.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard let label = ascii(label: Substring(label)) else { return nil }
            labels.append(label)
        }
        return labels.joined(separator: ".")
    }

    /// Returns a host in lower case and ASCII form, for comparing hosts.
    ///
    /// A host without an ASCII form is only lowercased.
    static func normalized(_ host: String) -> String {
        if host.utf8.allSatisfy({ $0 < 0x80 }) { return host.lowercased() }
        return (ascii(host) ?? host).lowercased()
    }

    /// Returns whether a byte is allowed in a host. Brackets and escapes aren't.
    static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."): true
        default: byte > 0x20 && byte != 0x7F && !#"/?#@:[]\<>"^`{|}%"#.utf8.contains(byte)
        }
    }

    private static func ascii(label: Substring) -> String? {
        if label.utf8.allSatisfy({ $0 < 0x80 }) { return String(label) }
        let scalars = Array(label.unicodeScalars)
        // A label can't begin with a combining mark (RFC 5891, 4.2.3.2), and an xn-- label is already ASCII.
        guard scalars.first.map(isMark) == false, !label.hasPrefix("xn--"), let encoded = punycode(scalars),
            encoded.utf8.count + 4 <= 63
        else { return nil }
        return "xn--" + encoded
    }

    /// Returns the name in lower case and normalization form C, with full-width dots and letters converted to ASCII.
    ///
    /// The other compatibility mappings of UTS #46 need tables that the standard library lacks. A name that needs one
    /// is rejected rather than sent as a different name.
    private static func mapped(_ host: String) -> String? {
        var mapped = String.UnicodeScalarView()
        for scalar in host.unicodeScalars {
            switch scalar.value {
            case 0x3002, 0xFF0E, 0xFF61: mapped.append(".")
            case 0xFF01...0xFF5E:
                guard let narrow = Unicode.Scalar(scalar.value - 0xFEE0) else { return nil }
                mapped.append(contentsOf: narrow.properties.lowercaseMapping.unicodeScalars)
            default: mapped.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
            }
        }
        // The standard library and FoundationEssentials have no public API for normalization.
        let name = String(decoding: String(mapped)._nfcCodeUnits, as: UTF8.self)
        return name.unicodeScalars.allSatisfy(mayBeInName) ? name : nil
    }

    private static func mayBeInName(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return true }
        // UTS #46 keeps these two, although case folding would replace them.
        if scalar == "ß" || scalar == "ς" { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            return false
        default: return !scalar.properties.changesWhenNFKCCaseFolded
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Returns the Punycode of a label (RFC 3492, 6.3), or `nil` if the label is too long for DNS.
    private static func punycode(_ scalars: [Unicode.Scalar]) -> String? {
        guard scalars.count <= 63 else { return nil }
        var output = scalars.filter(\.isASCII).map { UInt8(truncatingIfNeeded: $0.value) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        // There are at most 63 scalars below 0x110000, so none of these sums can overflow.
        var (next, delta, bias, handled) = (128, 0, 72, basicCount)
        while handled < scalars.count {
            guard let least = scalars.lazy.map({ Int($0.value) }).filter({ $0 >= next }).min() else { return nil }
            delta += (least - next) * (handled + 1)
            next = least
            for scalar in scalars {
                if scalar.value < next { delta += 1 }
                guard scalar.value == next else { continue }
                appendVariableLength(delta, bias, to: &output)
                bias = adapted(delta, handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func appendVariableLength(_ number: Int, _ bias: Int, to output: inout [UInt8]) {
        var (rest, position) = (number, 36)
        while true {
            let threshold = min(max(position - bias, 1), 26)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            position += 36
        }
        output.append(digit(rest))
    }

    private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
        var (delta, position) = (delta / (isFirst ? 700 : 2), 0)
        delta += delta / count
        while delta > 455 {
            delta /= 35
            position += 36
        }
        return position + 36 * delta / (delta + 38)
    }

    private static func digit(_ value: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? 0x61 + value : 0x30 + value - 26)
    }
}

extension Set<String> {
    /// Returns whether this set of allowed hosts contains a host in ASCII form.
    package func allows(host: String) -> Bool {
        let host = HostName.normalized(host)
        if contains(host) { return true }
        return contains { !$0.utf8.allSatisfy { $0 < 0x80 } && HostName.normalized($0) == host }
    }
}
