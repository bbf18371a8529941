// Lets users import one module only: the message types and the Foundation values are part of the public API.
#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif
@_exported public import HTTPTypes
