/// A reference as it is found, with positions instead of values.
struct ScreenRecord: Sendable {
    var url = JSONSpan.none
    /// The index of the request's other parts, or -1 if it has none, as most.
    var parts: Int32 = -1
    /// The path of the URL's value.
    var path: Int32 = -1
    /// The form whose inputs are sent, or -1.
    var form: Int32 = -1
    var kind = ReferenceKind.unknown
    var time = NeedTime.render
    /// Whether the screen asks for a prefetch.
    var isMarked = false
    /// Whether the framework doesn't evaluate expressions in the URL.
    var isPlain = false
    /// Whether the object has its own screen, or leads out of the app, and makes no request.
    var isLocal = false
    /// Whether the record is no reference.
    var isDropped = false
}

/// The kinds of references, in one byte.
enum ReferenceKind: UInt8, Sendable, Hashable {
    case unknown, image, route, lazy, form, request, webPage
}
