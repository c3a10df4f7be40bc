# unit tests of decode
