/// A measurement as a line of JSON, which `run` reads.
struct Report {
    private var members: [String]

    init(_ client: String, _ arguments: Arguments) {
        members = [#""client":"\#(client)""#, #""shape":"\#(arguments.shape.rawValue)""#]
    }

    mutating func add(_ name: String, _ value: Int) {
        members.append("\"\(name)\":\(value)")
    }

    /// The number rounded to thousandths.
    mutating func add(_ name: String, _ value: Double) {
        members.append("\"\(name)\":\((value * 1_000).rounded() / 1_000)")
    }

    func print() {
        Swift.print("{\(members.joined(separator: ","))}")
    }
}
