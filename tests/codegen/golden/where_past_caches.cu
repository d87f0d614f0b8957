//// all of where
