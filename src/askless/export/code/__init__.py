"""Formats that run: SQL, Python, JavaScript, ONNX and rules."""
