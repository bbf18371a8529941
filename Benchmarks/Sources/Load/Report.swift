/// One measurement as one line of JSON, in the words that `run` reads.
struct Report {
    private var members: [String]

    init(_ client: String, _ arguments: Arguments) {
        members = [#""client":"\#(client)""#, #""shape":"\#(arguments.shape.rawValue)""#]
    }

    mutating func add(_ name: String, _ value: Int) {
        members.append("\"\(name)\":\(value)")
    }

    /// Rounded to thousandths.
    mutating func add(_ name: String, _ value: Double) {
        members.append("\"\(name)\":\((value * 1_000).rounded() / 1_000)")
    }

    func print() {
        Swift.print("{\(members.joined(separator: ","))}")
    }
}
