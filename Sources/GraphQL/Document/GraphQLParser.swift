/// Parses a document's definitions (GraphQL specification, 2.2 to 2.12) into nodes, by recursive descent.
struct GraphQLParser {
    /// The maximum nesting depth of selections, values and types, so that no text exhausts the stack.
    static let depthLimit = 200

    let bytes: UnsafeBufferPointer<UInt8>
    private(set) var nodes: [GraphQLNode] = []
    /// The offsets of the descriptions of definitions and variables, which execution ignores.
    private(set) var descriptions: [Int] = []
    private var lexer: GraphQLLexer
    private(set) var token = GraphQLToken(kind: .end, start: 0, end: 0)
    /// The end of the token before `token`.
    private var end = 0
    private var depth = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        lexer = GraphQLLexer(bytes)
        // A node takes about seven bytes of text. The spare capacity is freed with the parser.
        nodes.reserveCapacity(bytes.count / 6 + 8)
    }

    /// Parses the whole document.
    mutating func document() throws(GraphQLSyntaxError) {
        try start()
        repeat { try definition() } while token.kind != .end
    }

    /// Reads the first token.
    mutating func start() throws(GraphQLSyntaxError) {
        token = try lexer.next()
    }
}

// MARK: - Definitions

extension GraphQLParser {
    private mutating func definition() throws(GraphQLSyntaxError) {
        if token.kind == .braceLeft {
            let node = open(.query)
            try selectionSet()
            return close(node)
        }
        try description()
        if isWord("query") { return try operation(.query) }
        if isWord("mutation") { return try operation(.mutation) }
        if isWord("subscription") { return try operation(.subscription) }
        if isWord("fragment") { return try fragment() }
        if isTypeSystemWord {
            throw GraphQLSyntaxError(
                token.start,
                "\(currentTokenText) belongs to a schema; an executable document contains only operations and fragments",
                advice: "put the schema into a separate file"
            )
        }
        throw expected("query, mutation, subscription, fragment or \"{\"")
    }

    private var isTypeSystemWord: Bool {
        isWord("schema") || isWord("scalar") || isWord("type") || isWord("interface") || isWord("union")
            || isWord("enum") || isWord("input") || isWord("directive") || isWord("extend")
    }

    /// Skips a description in front of a definition (2025 draft, 2.3.1), and records its offset.
    mutating func description() throws(GraphQLSyntaxError) {
        guard token.kind.isText else { return }
        descriptions.append(token.start)
        try advance()
    }

    private mutating func operation(_ kind: GraphQLNode.Kind) throws(GraphQLSyntaxError) {
        let node = open(kind)
        try advance()
        if token.kind == .name { nodes[node].name = try take() }
        if token.kind == .parenLeft { try variableDefinitions() }
        try directives()
        try selectionSet()
        close(node)
    }

    private mutating func variableDefinitions() throws(GraphQLSyntaxError) {
        try advance()
        repeat {
            try description()
            let node = open(.variableDefinition)
            try expect(.dollar, "a variable such as $id")
            nodes[node].name = try name("a variable's name")
            try expect(.colon, "\":\" and the variable's type")
            try type()
            if token.kind == .equals {
                try advance()
                try value(isConstant: true)
            }
            try directives(isConstant: true)
            close(node)
        } while token.kind != .parenRight
        try advance()
    }

    /// Parses a type. The node of a list type contains the node of its element type.
    mutating func type() throws(GraphQLSyntaxError) {
        let node = open(.type)
        if token.kind == .bracketLeft {
            try enter()
            try advance()
            try type()
            try expect(.bracketRight, "\"]\"")
            depth -= 1
        } else {
            nodes[node].name = try name("a type such as ID! or [String]")
        }
        if token.kind == .bang {
            nodes[node].isNonNull = true
            try advance()
        }
        close(node)
    }

    private mutating func fragment() throws(GraphQLSyntaxError) {
        let node = open(.fragment)
        try advance()
        guard !isWord("on") else { throw expected("a fragment's name") }
        nodes[node].name = try name("a fragment's name")
        guard isWord("on") else { throw expected("\"on\" and the fragment's type") }
        try advance()
        nodes[node].other = try name("the fragment's type")
        try directives()
        try selectionSet()
        close(node)
    }
}

// MARK: - Selections

extension GraphQLParser {
    private mutating func selectionSet() throws(GraphQLSyntaxError) {
        try enter()
        try expect(.braceLeft, "\"{\" and fields")
        try selection("a field")
        while token.kind != .braceRight { try selection("a field or \"}\"") }
        try advance()
        depth -= 1
    }

    private mutating func selection(_ what: StaticString) throws(GraphQLSyntaxError) {
        switch token.kind {
        case .name: try field()
        case .spread: try spread()
        default: throw expected("\(what)")
        }
    }

    private mutating func field() throws(GraphQLSyntaxError) {
        let node = openNamed(.field)
        try advance()
        if token.kind == .colon {
            try advance()
            nodes[node].other = nodes[node].name
            nodes[node].name = try name("the name of the aliased field")
        }
        try arguments(isConstant: false)
        try directives()
        if token.kind == .braceLeft { try selectionSet() }
        close(node)
    }

    private mutating func spread() throws(GraphQLSyntaxError) {
        let start = token
        try advance()
        if token.kind == .name, !isWord("on") {
            let node = open(.spread, at: start)
            nodes[node].name = try take()
            try directives()
            return close(node)
        }
        let node = open(.inlineFragment, at: start)
        if token.kind == .name {
            try advance()
            nodes[node].other = try name("the fragment's type")
        }
        try directives()
        try selectionSet()
        close(node)
    }

    private mutating func arguments(isConstant: Bool) throws(GraphQLSyntaxError) {
        guard token.kind == .parenLeft else { return }
        try advance()
        repeat {
            let node = openNamed(.argument)
            try expect(.name, "an argument's name")
            try expect(.colon, "\":\" and the argument's value")
            try value(isConstant: isConstant)
            close(node)
        } while token.kind != .parenRight
        try advance()
    }

    mutating func directives(isConstant: Bool = false) throws(GraphQLSyntaxError) {
        while token.kind == .at {
            let node = open(.directive)
            try advance()
            nodes[node].name = try name("a directive's name")
            try arguments(isConstant: isConstant)
            close(node)
        }
    }
}

// MARK: - Values

extension GraphQLParser {
    mutating func value(isConstant: Bool) throws(GraphQLSyntaxError) {
        switch token.kind {
        case .int: try leaf(.int)
        case .float: try leaf(.float)
        case .string, .blockString: try leaf(.string)
        case .name: try leaf(wordKind)
        case .dollar: try variable(isConstant: isConstant)
        case .bracketLeft: try list(isConstant: isConstant)
        case .braceLeft: try object(isConstant: isConstant)
        default: throw expected("a value")
        }
    }

    private var wordKind: GraphQLNode.Kind {
        if isWord("true") || isWord("false") { return .boolean }
        return isWord("null") ? .null : .enumValue
    }

    /// Adds a node without children, which is complete immediately.
    private mutating func leaf(_ kind: GraphQLNode.Kind) throws(GraphQLSyntaxError) {
        var node = GraphQLNode(kind: kind, at: token)
        node.name = node.place
        node.next = Int32(truncatingIfNeeded: nodes.count + 1)
        nodes.append(node)
        try advance()
    }

    private mutating func variable(isConstant: Bool) throws(GraphQLSyntaxError) {
        guard !isConstant else {
            throw GraphQLSyntaxError(token.start, "variables are not allowed in a constant value")
        }
        let node = open(.variable)
        try advance()
        nodes[node].name = try name("a variable's name")
        close(node)
    }

    private mutating func list(isConstant: Bool) throws(GraphQLSyntaxError) {
        try enter()
        let node = open(.list)
        try advance()
        while token.kind != .bracketRight { try value(isConstant: isConstant) }
        try advance()
        close(node)
        depth -= 1
    }

    private mutating func object(isConstant: Bool) throws(GraphQLSyntaxError) {
        try enter()
        let node = open(.object)
        try advance()
        while token.kind != .braceRight {
            let member = open(.objectField)
            nodes[member].name = try name("a field's name")
            try expect(.colon, "\":\" and the field's value")
            try value(isConstant: isConstant)
            close(member)
        }
        try advance()
        close(node)
        depth -= 1
    }
}

// MARK: - Tokens and nodes

extension GraphQLParser {
    mutating func advance() throws(GraphQLSyntaxError) {
        end = token.end
        token = try lexer.next()
    }

    mutating func take() throws(GraphQLSyntaxError) -> GraphQLNode.SourceRange {
        let place = GraphQLNode.SourceRange(token)
        try advance()
        return place
    }

    mutating func name(_ what: StaticString) throws(GraphQLSyntaxError) -> GraphQLNode.SourceRange {
        guard token.kind == .name else { throw expected("\(what)") }
        return try take()
    }

    mutating func expect(_ kind: GraphQLToken.Kind, _ what: StaticString) throws(GraphQLSyntaxError) {
        guard token.kind == kind else { throw expected("\(what)") }
        try advance()
    }

    private mutating func enter() throws(GraphQLSyntaxError) {
        depth += 1
        guard depth <= Self.depthLimit else {
            throw GraphQLSyntaxError(token.start, "nested deeper than \(Self.depthLimit) levels")
        }
    }

    mutating func open(_ kind: GraphQLNode.Kind) -> Int { open(kind, at: token) }

    private mutating func open(_ kind: GraphQLNode.Kind, at start: GraphQLToken) -> Int {
        nodes.append(GraphQLNode(kind: kind, at: start))
        return nodes.count - 1
    }

    /// Begins a node that is named by the current token.
    private mutating func openNamed(_ kind: GraphQLNode.Kind) -> Int {
        var node = GraphQLNode(kind: kind, at: token)
        node.name = node.place
        nodes.append(node)
        return nodes.count - 1
    }

    mutating func close(_ node: Int) {
        nodes[node].close(at: end, before: nodes.count)
    }

    func isWord(_ word: StaticString) -> Bool {
        token.kind == .name && bytes.has(word, token.start, token.end)
    }

    func expected(_ what: String) -> GraphQLSyntaxError {
        GraphQLSyntaxError(token.start, "expected \(what), found \(currentTokenText)")
    }

    /// The current token, for error messages.
    var currentTokenText: String {
        guard token.kind != .end else { return "the end of the text" }
        let text = String(decoding: bytes[token.start..<min(token.end, token.start + 30)], as: UTF8.self)
        return token.kind.isText ? "a string" : "\"\(text)\""
    }
}
