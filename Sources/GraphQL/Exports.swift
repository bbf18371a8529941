@_exported public import BeagleNet
