# tests with a real daemon and a fake tracefs
