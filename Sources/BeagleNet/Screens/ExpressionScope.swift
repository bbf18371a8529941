import BeagleNetHTTP

/// A step of a path in an expression.
enum ExpressionStep: Equatable {
    case name(ArraySlice<UInt8>)
    case index(Int)
}

/// A source for the values that expressions refer to.
protocol ExpressionScope {
    /// Returns the value of a context at a path.
    mutating func value(of context: ArraySlice<UInt8>, at path: [ExpressionStep]) -> ScreenValue
    /// Returns the object or array at a position of the document, or `nil` if it is too large to be read.
    mutating func json(at place: Int) -> JSONValue?
    /// Whether operations that differ between Beagle and Nimbus have the meaning of Nimbus.
    var isNimbus: Bool { get }
}

extension ExpressionScope {
    // Only a scope over a document has containers.
    mutating func json(at place: Int) -> JSONValue? { nil }
    var isNimbus: Bool { false }
}
