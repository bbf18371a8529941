/// Which certificate authorities to trust.
public enum TLSTrust: Sendable, Hashable {
    /// The system's.
    case system
    /// Only those in this PEM file.
    case file(path: String)
}
