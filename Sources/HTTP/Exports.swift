// One import is enough for a user: the message types and the Foundation values that the public API speaks of.
#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif
@_exported public import HTTPTypes
