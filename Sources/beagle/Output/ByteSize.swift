import ArgumentParser

/// A number of bytes with curl's suffixes, which are powers of 1,024: `500`, `10k`, `2M`, `1G`.
struct ByteSize: ExpressibleByArgument, Equatable {
    let bytes: Int

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let factors = ["": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
        guard let number = Int(digits), number > 0, let factor = factors[argument[digits.endIndex...].lowercased()]
        else { return nil }
        let (bytes, isTooMany) = number.multipliedReportingOverflow(by: factor)
        guard !isTooMany else { return nil }
        self.bytes = bytes
    }
}
