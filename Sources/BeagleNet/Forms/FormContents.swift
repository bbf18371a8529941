/// The names and values of a form at one moment.
struct FormContents: Sendable, Hashable {
    private struct Value: Sendable, Hashable {
        let name: String
        let value: Form.Value
    }

    private let inputs: [Value]
    private let additionalData: [String: Form.Value]

    init(_ inputs: [Form.Input], _ additionalData: [String: Form.Value]) {
        self.inputs = inputs.map { Value(name: $0.name, value: $0.value) }
        self.additionalData = additionalData
    }

    /// Returns the values of an input.
    func values(of name: String) -> [Form.Value] {
        inputs.filter { $0.name == name }.map(\.value)
    }
}
