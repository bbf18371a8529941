extension ScreenPlan.Reference {
    /// The kind of a reference: an open set, which includes the members below.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The name of the kind, which the command line tool's `--json` shows.
        public let rawValue: String

        /// Creates a kind with a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// An image.
        public static let image = Kind(rawValue: "image")
        /// A screen that an action leads to.
        public static let route = Kind(rawValue: "route")
        /// A component that is fetched when its place on the screen appears.
        public static let lazy = Kind(rawValue: "lazy")
        /// The target of a form.
        public static let form = Kind(rawValue: "form")
        /// A request for data, or for an effect.
        public static let request = Kind(rawValue: "request")
        /// A page that a web view or browser opens.
        public static let webPage = Kind(rawValue: "web page")
        /// An http or https URL in a member whose meaning the vocabulary doesn't have. It is never fetched.
        public static let unknown = Kind(rawValue: "unknown")
    }

    /// The time at which a reference is needed: an open set, which includes the members below.
    public struct Time: RawRepresentable, Sendable, Hashable {
        /// The name of the time, which the command line tool's `--json` shows.
        public let rawValue: String

        /// Creates a time with a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The time at which the screen is drawn.
        public static let render = Time(rawValue: "render")
        /// The time at which a component has been laid out for the first time (`onInit`).
        public static let initial = Time(rawValue: "init")
        /// The time at which the user scrolls to the end of a list (`onScrollEnd`).
        public static let visible = Time(rawValue: "visible")
        /// The time at which the user does something.
        public static let action = Time(rawValue: "action")
        /// The time at which the screen is drawn, once for each element of a list that the screen doesn't contain.
        public static let template = Time(rawValue: "template")
        /// The time at which a request of the screen fails.
        public static let fallback = Time(rawValue: "fallback")
        /// The time at which an action shows the component that a context or another member for data contains.
        public static let data = Time(rawValue: "data")
    }

    /// A reason not to prefetch: an open set, which includes the members below.
    public struct Obstacle: RawRepresentable, Sendable, Hashable {
        /// The name of the reason, which the command line tool's `--json` shows.
        public let rawValue: String

        /// Creates a reason with a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The method may have side effects.
        public static let unsafeMethod = Obstacle(rawValue: "unsafe method")
        /// The request has a body.
        public static let body = Obstacle(rawValue: "body")
        /// The screen doesn't contain the value of an expression, or an action may change it before.
        public static let unresolvedExpression = Obstacle(rawValue: "unresolved expression")
        /// An expression uses the element of a list that the screen doesn't contain.
        public static let template = Obstacle(rawValue: "template")
        /// The screen doesn't ask for a prefetch of the route, or the request belongs to an event.
        public static let notMarked = Obstacle(rawValue: "not marked")
        /// The URL has a scheme other than http and https, such as `tel:` or `empty:`.
        public static let otherScheme = Obstacle(rawValue: "other scheme")
        /// The meaning of the member isn't in the vocabulary.
        public static let undeclared = Obstacle(rawValue: "undeclared")
        /// The component may never be shown.
        public static let data = Obstacle(rawValue: "data")
        /// The form needs the user's input.
        public static let needsInput = Obstacle(rawValue: "needs input")
        /// A web view or browser opens the page.
        public static let openedElsewhere = Obstacle(rawValue: "opened elsewhere")
    }
}

extension ScreenPlan.Reference.Kind {
    init(_ kind: ReferenceKind) {
        self =
            switch kind {
            case .unknown: .unknown
            case .image: .image
            case .route: .route
            case .lazy: .lazy
            case .form: .form
            case .request: .request
            case .webPage: .webPage
            }
    }
}

extension ScreenPlan.Reference.Time {
    init(_ time: NeedTime) {
        self =
            switch time {
            case .render: .render
            case .initial: .initial
            case .visible: .visible
            case .action: .action
            case .template: .template
            case .fallback: .fallback
            case .data: .data
            }
    }
}

extension ScreenPlan.Reference.Obstacle {
    init?(_ obstacle: ScreenObstacle) {
        switch obstacle {
        case .none: return nil
        case .unsafeMethod: self = .unsafeMethod
        case .body: self = .body
        case .expression: self = .unresolvedExpression
        case .template: self = .template
        case .notMarked: self = .notMarked
        case .otherScheme: self = .otherScheme
        case .undeclared: self = .undeclared
        case .data: self = .data
        case .input: self = .needsInput
        case .openedElsewhere: self = .openedElsewhere
        }
    }
}
