# unit tests of store
