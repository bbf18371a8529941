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

/// The parts of a request other than its URL.
struct ScreenRequestParts: Sendable {
    static let none = ScreenRequestParts()

    var method = JSONSpan.none
    var headers = JSONSpan.none
    var body = JSONSpan.none
}

/// The interval of the document, and of the records, in which a context or the element of a list can be used.
struct ScreenScope: Sendable {
    enum Content: Sendable {
        case context(id: JSONSpan, value: UInt32)
        /// A template: a component that is shown for each element of a list. Of several alternatives, one is shown.
        case template(list: Int32, case: JSONSpan, isAlternative: Bool)
    }

    var content: Content
    let start: UInt32
    /// The records inside.
    var records: Range<Int>
    /// The index of the next scope that isn't inside of this one.
    var next = 0
}

/// A list, whose templates are shown for each of its items.
struct ScreenList: Sendable {
    /// The position of the array, or of the string with an expression for it, or 0.
    var items: UInt32 = 0
    var iteratorName = JSONSpan.none
    var indexName = JSONSpan.none
}

/// The result of a walk.
struct ScreenFindings: Sendable {
    var rootType = JSONSpan.none
    var rootID = JSONSpan.none
    var rootForm: ScreenMarker.Form?
    /// Whether the outermost object is one of Nimbus.
    var isNimbus = false
    var records: ContiguousArray<ScreenRecord> = []
    var parts: ContiguousArray<ScreenRequestParts> = []
    var omitted = 0
    var paths = ScreenPaths()
    var scopes: [ScreenScope] = []
    var lists: [ScreenList] = []
    /// The inputs of each form, as a range of `inputs`.
    var forms: [Range<Int>] = []
    var inputs: [JSONSpan] = []
    /// The names of contexts that an action changes.
    var changedContexts: [JSONSpan] = []
    var outline = ScreenOutline()

    /// Returns the parts of a record's request.
    func parts(of record: ScreenRecord) -> ScreenRequestParts {
        record.parts < 0 ? .none : parts[Int(record.parts)]
    }
}
