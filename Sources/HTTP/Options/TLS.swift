/// The namespace of the types that configure TLS.
public enum TLS {}
