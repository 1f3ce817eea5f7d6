// The modules of the store, which programs import as one.
@_exported public import ObjectStoreCore
@_exported public import ObjectStoreMaintenance
@_exported public import ObjectStoreMigration
