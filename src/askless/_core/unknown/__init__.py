"""Tables with unknown outcomes: score tests, follow rules, price them."""
