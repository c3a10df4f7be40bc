# unit tests of render
